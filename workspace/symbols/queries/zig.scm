; Definitions -------------------------------------------------------------------------------------

(variable_declaration
  . (identifier) @name
  [(struct_declaration "{" @body)
   (union_declaration "{" @body)
   (enum_declaration "{" @body)
   (opaque_declaration "{" @body)
   (error_set_declaration "{" @body)]) @definition.class

(container_field
  name: (identifier) @name
  type: (_)? @type) @definition.field

(function_declaration
  name: (identifier) @name
  type: (_) @type
  body: (_)? @body) @definition.function

(source_file
  (variable_declaration
    . (identifier) @name
    type: (_)? @type
    (_) @value .) @definition.constant)

(_
  (container_field)
  (variable_declaration
    . (identifier) @name
    type: (_)? @type
    (_) @value .) @definition.constant)

; Imports -----------------------------------------------------------------------------------------

(variable_declaration
  . (identifier) @import.local
  (builtin_function
    (builtin_identifier) @_import
    (arguments (string) @import.module))
  (#eq? @_import "@import")) @import

(variable_declaration
  . (identifier) @import.alias
  (field_expression
    object: (builtin_function
      (builtin_identifier) @_import
      (arguments (string) @import.module))
    member: (identifier) @import.name)
  (#eq? @_import "@import")) @import
