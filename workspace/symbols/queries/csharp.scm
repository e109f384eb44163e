; Definitions -------------------------------------------------------------------------------------

(class_declaration name: (identifier) @name body: (_)? @body) @definition.class
(struct_declaration name: (identifier) @name body: (_)? @body) @definition.class
(record_declaration name: (identifier) @name body: (_)? @body) @definition.class
(enum_declaration name: (identifier) @name body: (_)? @body) @definition.class
(interface_declaration name: (identifier) @name body: (_)? @body) @definition.type
(delegate_declaration type: (_) @type name: (identifier) @name) @definition.type

(class_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type . (_) @base)
])) @definition.class

(struct_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type . (_) @base)
])) @definition.class

(record_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type . (_) @base)
])) @definition.class

(interface_declaration (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
  (primary_constructor_base_type . (_) @base)
])) @definition.type

(namespace_declaration name: (_) @name body: (_) @body) @definition.module

; record Point(int X, int Y);
(record_declaration
  (parameter_list
    (parameter
      type: (_) @type
      name: (identifier) @name) @definition.field))

(method_declaration
  returns: (_) @type
  name: (identifier) @name
  body: (_)? @body) @definition.method

(constructor_declaration
  name: (identifier) @name
  body: (_)? @body) @definition.method

(constructor_declaration (constructor_initializer) @body) @definition.method

(property_declaration
  type: (_) @type
  name: (identifier) @name
  value: (_)? @value) @definition.field

(property_declaration accessors: (_) @body) @definition.field

(event_field_declaration
  (variable_declaration
    type: (_) @type
    (variable_declarator name: (identifier) @name))) @definition.field

(field_declaration
  (variable_declaration
    type: (_) @type
    (variable_declarator
      name: (identifier) @name
      (_)? @value))) @definition.field

(enum_member_declaration
  name: (identifier) @name
  value: (_)? @value) @definition.field

(attribute_list) @hidden

; Imports -----------------------------------------------------------------------------------------

(using_directive
  name: (identifier)? @import.local
  [(qualified_name) (identifier)] @import.module
  .) @import
