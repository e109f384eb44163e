; Definitions -------------------------------------------------------------------------------------

(function_declaration
  name: (identifier) @name
  body: (_)? @body) @definition.function

(function_declaration
  name: (dot_index_expression
    table: (_) @container
    field: (identifier) @name)
  body: (_)? @body) @definition.function

(function_declaration
  name: (method_index_expression
    table: (_) @container
    method: (identifier) @name)
  body: (_)? @body) @definition.function

(function_declaration "end" @hidden)
(function_definition "end" @hidden)

; M.run = function() end
(assignment_statement
  (variable_list
    . name: (dot_index_expression
        table: (identifier) @container
        field: (identifier) @name) .)
  (expression_list . value: (function_definition))) @definition.function

(assignment_statement
  (expression_list
    . value: (function_definition body: (_) @body))) @definition.function

(chunk
  (assignment_statement
    (variable_list
      . name: (dot_index_expression
          table: (identifier) @container
          field: (identifier) @name) .)
    (expression_list . value: (_) @value)) @definition.field)

(chunk
  (variable_declaration
    "local" @keyword
    (assignment_statement
      (variable_list . name: (identifier) @name .)
      (expression_list . value: (_) @value)) @definition.constant))

(chunk
  (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list . value: (_) @value)) @definition.constant)

; Imports -----------------------------------------------------------------------------------------

(assignment_statement
  (variable_list . name: (identifier) @import.local)
  (expression_list
    . value: (function_call
        name: (identifier) @_require
        arguments: (arguments . (string content: (_) @import.module)))
    (#eq? @_require "require"))) @import

(chunk
  (function_call
    name: (identifier) @_require
    arguments: (arguments . (string content: (_) @import.module))
    (#eq? @_require "require")) @import)
