; Definitions -------------------------------------------------------------------------------------

(class_declaration name: (name) @name body: (_) @body) @definition.class
(enum_declaration name: (name) @name body: (_) @body) @definition.class
(trait_declaration name: (name) @name body: (_) @body) @definition.type
(interface_declaration name: (name) @name body: (_) @body) @definition.type

(class_declaration (base_clause (_) @base)) @definition.class
(class_declaration (class_interface_clause (_) @base)) @definition.class
(class_declaration body: (declaration_list (use_declaration (_) @base))) @definition.class
(enum_declaration (class_interface_clause (_) @base)) @definition.class
(interface_declaration (base_clause (_) @base)) @definition.type

(namespace_definition
  name: (namespace_name) @name
  body: (_) @body) @definition.module

(function_definition
  name: (name) @name
  return_type: (_)? @type
  body: (_) @body) @definition.function

(method_declaration
  name: (name) @name
  return_type: (_)? @type
  body: (_)? @body) @definition.method

(property_declaration
  type: (_)? @type
  (property_element
    name: (variable_name (name) @name)
    default_value: (_)? @value)) @definition.field

(property_promotion_parameter
  type: (_)? @type
  name: (variable_name (name) @name)) @definition.field @hoisted

(const_declaration
  (const_element . (name) @name (_) @value)) @definition.constant

(enum_case
  name: (name) @name
  value: (_)? @value) @definition.field

(attribute_list) @hidden

; Imports -----------------------------------------------------------------------------------------

(namespace_use_declaration
  (namespace_use_clause
    . (qualified_name
        prefix: (namespace_name) @import.module
        (name) @import.name)
    alias: (name)? @import.alias)) @import

(namespace_use_declaration
  (namespace_name) @import.module
  (namespace_use_group
    (namespace_use_clause
      . (name) @import.name
      alias: (name)? @import.alias))) @import

; require __DIR__ . "/helpers.php";
([(require_expression (string (string_content) @import.module))
  (require_once_expression (string (string_content) @import.module))
  (include_expression (string (string_content) @import.module))
  (include_once_expression (string (string_content) @import.module))
  (require_expression (binary_expression right: (string (string_content) @import.module)))
  (require_once_expression (binary_expression right: (string (string_content) @import.module)))
  (include_expression (binary_expression right: (string (string_content) @import.module)))
  (include_once_expression
    (binary_expression right: (string (string_content) @import.module)))]) @import
