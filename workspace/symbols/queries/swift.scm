; Definitions -------------------------------------------------------------------------------------

(class_declaration
  declaration_kind: ["class" "struct" "actor" "enum"]
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(class_declaration
  declaration_kind: "extension"
  name: (user_type . (type_identifier) @name)) @scope

(protocol_declaration
  name: (type_identifier) @name
  body: (_) @body) @definition.type

(class_declaration
  declaration_kind: ["class" "struct" "actor" "enum"]
  (inheritance_specifier inherits_from: (user_type . (type_identifier) @base))) @definition.class

(protocol_declaration
  (inheritance_specifier inherits_from: (user_type . (type_identifier) @base))) @definition.type

(function_declaration
  name: (simple_identifier) @name
  body: (_) @body) @definition.function

(function_declaration
  "->"
  . name: (_) @type) @definition.function

(init_declaration
  name: "init" @name
  body: (_) @body) @definition.method

(protocol_function_declaration
  name: (simple_identifier) @name) @definition.method

(protocol_function_declaration
  "->"
  . name: (_) @type) @definition.method

(protocol_property_declaration
  (pattern (simple_identifier) @name)
  (type_annotation (_) @type)) @definition.field

(class_body
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    (type_annotation (_) @type)?
    value: (_)? @value
    computed_value: (_)? @body) @definition.field)

(enum_class_body
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    (type_annotation (_) @type)?
    computed_value: (_)? @body) @definition.field)

(source_file
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    (type_annotation (_) @type)?
    value: (_)? @value
    computed_value: (_)? @body) @definition.constant)

; var client = Client()
(property_declaration
  !computed_value
  value: (call_expression . (simple_identifier) @type
    (#match? @type "^[A-Z]"))) @definition.field

(enum_entry name: (simple_identifier) @name) @definition.field

(typealias_declaration . name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

(modifiers (attribute) @hidden)

; Imports -----------------------------------------------------------------------------------------

(import_declaration (identifier) @import.module @import.local) @import
