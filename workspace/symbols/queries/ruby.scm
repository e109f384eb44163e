; Definitions -------------------------------------------------------------------------------------

(class
  name: (_) @name
  body: (_)? @body) @definition.class

(class superclass: (superclass (_) @base)) @definition.class

(class
  body: (body_statement
    (call
      method: (identifier) @_method
      arguments: (argument_list [(constant) (scope_resolution)] @base)
      (#any-of? @_method "include" "prepend" "extend")))) @definition.class

(module
  name: (_) @name
  body: (_)? @body) @definition.module

(method
  name: (_) @name
  body: (_)? @body) @definition.function

(singleton_method
  name: (_) @name
  body: (_)? @body) @definition.function

(assignment
  left: (constant) @name
  right: (_) @value) @definition.constant

; Point = Struct.new(:x, :y)
(assignment
  left: (constant)
  right: (call
    receiver: (constant) @_struct
    method: (identifier)
    (#any-of? @_struct "Struct" "Data"))) @definition.class

; attr_reader :name
(call
  method: (identifier) @_attribute
  arguments: (argument_list (simple_symbol) @name @definition.field)
  (#any-of? @_attribute "attr_reader" "attr_writer" "attr_accessor"))

(assignment
  left: (instance_variable) @name
  right: (_) @value) @definition.field @hoisted

; @client = Client.new
(assignment
  left: (instance_variable)
  right: (call
    receiver: [(constant) (scope_resolution)] @type
    method: (identifier) @_new
    (#eq? @_new "new"))) @definition.field

; What leads to a body may be a comment.
(class (comment) @hidden)
(module (comment) @hidden)
(method (comment) @hidden)
(singleton_method (comment) @hidden)

; Imports -----------------------------------------------------------------------------------------

(call
  !receiver
  method: (identifier) @import.keyword
  arguments: (argument_list . (string (string_content) @import.module) .)
  (#any-of? @import.keyword "require" "require_relative" "load")) @import
