; Definitions -------------------------------------------------------------------------------------

(call
  target: (identifier) @_keyword
  (arguments . [(alias) (atom)] @name)
  (do_block) @body
  (#any-of? @_keyword "defmodule" "defprotocol")) @definition.module

(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block) @body
  (#eq? @_keyword "defimpl")) @definition.module

(call
  target: (identifier) @_keyword
  (arguments
    . [(identifier) @name
       (call target: (identifier) @name)
       (binary_operator left: [(identifier) @name (call target: (identifier) @name)])])
  (do_block)? @body
  (#any-of? @_keyword
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate")
) @definition.function

(call
  target: (identifier) @_keyword
  (arguments (keywords) @body .)
  (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop")) @definition.function

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @name
    (arguments . (_) @value)
    (#not-match? @name
      "^(moduledoc|doc|typedoc|spec|type|typep|opaque|callback|macrocallback|impl|behaviour)$")
    (#not-match? @name "^(deprecated|dialyzer|compile|derive|enforce_keys|since|(before|after)_.*)$")
  )) @definition.constant

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_keyword
    (arguments
      . (binary_operator
          left: [(identifier) @name (call target: (identifier) @name)]
          operator: "::"
          right: (_) @type))
    (#any-of? @_keyword "type" "typep" "opaque"))) @definition.type

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_keyword
    (arguments
      . (binary_operator
          left: (call target: (identifier) @name)
          operator: "::"))
    (#any-of? @_keyword "callback" "macrocallback"))) @definition.function

; Imports -----------------------------------------------------------------------------------------

(call
  target: (identifier) @_keyword
  (arguments . (alias) @import.module @import.last)
  (#any-of? @_keyword "alias" "import" "use" "require")) @import

(call
  target: (identifier) @_keyword
  (arguments
    . (alias) @import.module
    (keywords (pair key: (keyword) @_as value: (alias) @import.local)))
  (#any-of? @_keyword "alias" "require")) @import

(call
  target: (identifier) @_keyword
  (arguments
    . (dot
        left: (alias) @import.module
        right: (tuple (alias) @import.name)))
  (#eq? @_keyword "alias")) @import
