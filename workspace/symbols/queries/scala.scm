; Definitions -------------------------------------------------------------------------------------

(class_definition
  name: (identifier) @name
  body: (_)? @body) @definition.class

(object_definition
  name: (identifier) @name
  body: (_)? @body) @definition.class

(enum_definition
  name: (identifier) @name
  body: (_)? @body) @definition.class

(trait_definition
  name: (identifier) @name
  body: (_)? @body) @definition.type

(class_definition
  extend: (extends_clause [
    (type_identifier) @base
    (generic_type type: (_) @base)
  ])) @definition.class

(object_definition
  extend: (extends_clause [
    (type_identifier) @base
    (generic_type type: (_) @base)
  ])) @definition.class

(trait_definition
  extend: (extends_clause [
    (type_identifier) @base
    (generic_type type: (_) @base)
  ])) @definition.type

(class_definition
  class_parameters: (class_parameters
    (class_parameter
      name: (identifier) @name
      type: (_) @type) @definition.field))

(simple_enum_case name: (identifier) @name) @definition.field
(full_enum_case name: (identifier) @name) @definition.field

(function_definition
  name: (_) @name
  return_type: (_)? @type
  body: (_) @body) @definition.function

(function_declaration
  name: (_) @name
  return_type: (_)? @type) @definition.function

(template_body
  [(val_definition
     pattern: (identifier) @name
     type: (_)? @type
     value: (_) @value)
   (var_definition
     pattern: (identifier) @name
     type: (_)? @type
     value: (_) @value)
   (val_declaration
     name: (identifier) @name
     type: (_) @type)
   (var_declaration
     name: (identifier) @name
     type: (_) @type)] @definition.field)

; val client = new Client()
(_
  pattern: (identifier)
  value: (instance_expression . (type_identifier) @type)) @definition.field

(type_definition
  name: (type_identifier) @name) @definition.type

(annotation) @hidden

; Imports -----------------------------------------------------------------------------------------

(import_declaration) @import.path @import

(import_declaration
  (namespace_selectors
    [(identifier) @import.name
     (arrow_renamed_identifier
       name: (identifier) @import.name
       alias: (identifier) @import.alias)])) @import.path @import

(import_declaration (namespace_wildcard) @import.name) @import.path @import
