; Definitions -------------------------------------------------------------------------------------

(class_definition
  name: (identifier) @name
  body: (_) @body) @definition.class

(class_definition
  superclass: (superclass [
    (type_identifier) @base
    (mixins (type_identifier) @base)
  ])) @definition.class

(class_definition
  interfaces: (interfaces (type_identifier) @base)) @definition.class

(mixin_declaration
  . (_)? . (identifier) @name
  (class_body) @body) @definition.type

(enum_declaration
  name: (identifier) @name
  body: (_) @body) @definition.class

(enum_constant name: (identifier) @name) @definition.field

(extension_declaration
  class: (type_identifier) @name) @scope

(type_alias . (type_identifier) @name) @definition.type

(function_signature
  . (type_identifier)? @type
  name: (identifier) @name) @definition.function

(getter_signature
  . (type_identifier)? @type
  name: (identifier) @name) @definition.function

(setter_signature name: (identifier) @name) @definition.function

(constructor_signature
  name: (identifier) @name
  .
  parameters: (_)) @definition.method

(factory_constructor_signature
  (identifier) @name
  .
  (formal_parameter_list)) @definition.method

(declaration
  (type_identifier) @type
  [(initialized_identifier_list (initialized_identifier . (identifier) @name))
   (static_final_declaration_list (static_final_declaration . (identifier) @name))]
) @definition.field

(program
  (type_identifier)? @type
  .
  (static_final_declaration_list
    (static_final_declaration . (identifier) @name) @definition.constant))

; Imports -----------------------------------------------------------------------------------------

(library_import
  (import_specification
    (configurable_uri (uri (string_literal) @import.module))
    (identifier)? @import.local)) @import

(library_export
  (configurable_uri (uri (string_literal) @import.module))) @import

(part_directive (uri (string_literal) @import.module)) @import
