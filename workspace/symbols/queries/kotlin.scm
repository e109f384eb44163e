; Definitions -------------------------------------------------------------------------------------

(class_declaration
  "class"
  name: (identifier) @name) @definition.class

(class_declaration
  "interface"
  name: (identifier) @name) @definition.type

(class_declaration (class_body) @body) @definition.class
(class_declaration (enum_class_body) @body) @definition.class

(class_declaration
  (delegation_specifiers
    (delegation_specifier [
      (user_type . (identifier) @base)
      (constructor_invocation (user_type . (identifier) @base))
    ]))) @definition.class

(object_declaration
  name: (identifier) @name
  (class_body)? @body) @definition.class

(enum_entry . (identifier) @name) @definition.field

; class Point(val x: Int)
(class_parameter
  ["val" "var"]
  (identifier) @name
  [(user_type) (nullable_type) (function_type)] @type) @definition.field

(function_declaration name: (identifier) @name) @definition.function

(function_declaration (function_body) @body) @definition.function

(function_declaration
  (function_value_parameters)
  . [(user_type) (nullable_type) (function_type)] @type) @definition.function

(secondary_constructor
  "constructor" @name
  (block)? @body) @definition.method

(class_body
  (property_declaration
    (variable_declaration
      (identifier) @name
      [(user_type) (nullable_type) (function_type)]? @type)) @definition.field)

(source_file
  (property_declaration
    (variable_declaration
      (identifier) @name
      [(user_type) (nullable_type) (function_type)]? @type)) @definition.constant)

(property_declaration
  (variable_declaration)
  "="
  . (_) @value) @definition.field

; val client = Client()
(property_declaration
  (variable_declaration . (identifier) .)
  (call_expression . (identifier) @type
    (#match? @type "^[A-Z]"))) @definition.field

(type_alias type: (identifier) @name) @definition.type

(modifiers (annotation) @hidden)

; Imports -----------------------------------------------------------------------------------------

((import
   (qualified_identifier) @import.path
   . (identifier)? @import.alias) @import
  (#not-match? @import "[*]"))

(import
  (qualified_identifier) @import.module
  "*" @import.name) @import
