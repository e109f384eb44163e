; Definitions -------------------------------------------------------------------------------------

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(enum_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.type
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.type

(_
  superclass: (superclass [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ])) @definition.class

(_
  interfaces: (super_interfaces (type_list [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ]))) @definition.class

(interface_declaration
  (extends_interfaces (type_list [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ]))) @definition.type

(method_declaration
  type: (_) @type
  name: (identifier) @name
  body: (block)? @body) @definition.method

(constructor_declaration
  name: (identifier) @name
  body: (_) @body) @definition.method

(annotation_type_element_declaration
  type: (_) @type
  name: (identifier) @name) @definition.method

(field_declaration
  type: (_) @type
  declarator: (variable_declarator
    name: (identifier) @name
    value: (_)? @value)) @definition.field

(constant_declaration
  type: (_) @type
  declarator: (variable_declarator
    name: (identifier) @name
    value: (_)? @value)) @definition.field

(enum_constant
  name: (identifier) @name
  body: (_)? @body) @definition.field

; record Point(int x, int y) {}
(record_declaration
  parameters: (formal_parameters
    (formal_parameter
      type: (_) @type
      name: (identifier) @name) @definition.field))

(modifiers [(marker_annotation) (annotation)] @hidden)

; Imports -----------------------------------------------------------------------------------------

(import_declaration
  (scoped_identifier
    scope: (_) @import.module
    name: (identifier) @import.name)
  .) @import

(import_declaration
  "static" @import.static
  (scoped_identifier
    scope: (_) @import.module
    name: (identifier) @import.name)
  .) @import

(import_declaration
  (_) @import.module
  (asterisk) @import.name) @import
