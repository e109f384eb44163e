; Definitions -------------------------------------------------------------------------------------

(type_declaration
  "type" @keyword
  (type_spec
    name: (type_identifier) @name
    type: (struct_type (field_declaration_list) @body)) @definition.class)

(type_declaration
  "type" @keyword
  (type_spec
    name: (type_identifier) @name
    type: (interface_type)) @definition.type)

(type_spec
  type: (interface_type . "interface" . "{" @body)) @definition.type

(type_declaration
  "type" @keyword
  (type_spec
    name: (type_identifier) @name
    type: [
      (type_identifier)
      (qualified_type)
      (generic_type)
      (pointer_type)
      (function_type)
      (map_type)
      (slice_type)
      (array_type)
      (channel_type)
    ]) @definition.type)

(type_declaration
  "type" @keyword
  (type_alias name: (type_identifier) @name) @definition.type)

(field_declaration
  name: (field_identifier) @name
  type: (_) @type) @definition.field

; An embedded type is a base.
(type_spec
  type: (struct_type
    (field_declaration_list
      (field_declaration
        !name
        type: [
          (type_identifier) @base
          (qualified_type) @base
          (generic_type type: (_) @base)
        ])))) @definition.class

(field_declaration tag: (_) @hidden)

(type_spec
  type: (interface_type
    (method_elem
      name: (field_identifier) @name
      result: (_)? @type) @definition.method))

(type_spec
  type: (interface_type
    (type_elem . [(type_identifier) (qualified_type)] @base .))) @definition.type

(function_declaration
  name: (identifier) @name
  result: (_)? @type
  body: (block)? @body) @definition.function

(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @container
        (pointer_type (type_identifier) @container)
        (generic_type type: (type_identifier) @container)
        (pointer_type (generic_type type: (type_identifier) @container))
      ]))
  name: (field_identifier) @name
  result: (_)? @type
  body: (block)? @body) @definition.method

(source_file
  (const_declaration
    "const" @keyword
    (const_spec
      name: (identifier) @name
      type: (_)? @type
      value: (_)? @value) @definition.constant))

(source_file
  (var_declaration
    "var" @keyword
    (var_spec
      name: (identifier) @name
      type: (_)? @type
      value: (_)? @value) @definition.constant))

(source_file
  (var_declaration
    "var" @keyword
    (var_spec_list
      (var_spec
        name: (identifier) @name
        type: (_)? @type
        value: (_)? @value) @definition.constant)))

; Imports -----------------------------------------------------------------------------------------

(import_spec
  name: [(package_identifier) (dot) (blank_identifier)]? @import.local
  path: (_) @import.module @import.last) @import
