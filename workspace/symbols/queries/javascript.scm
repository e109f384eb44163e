; inherits: ecmascript

(class_declaration
  name: (identifier) @name
  body: (class_body) @body) @definition.class

(class_declaration
  (class_heritage [(identifier) (member_expression)] @base)) @definition.class

(class_body
  (field_definition
    property: [(property_identifier) (private_property_identifier)] @name
    value: (_)? @value) @definition.field)

(class_body
  (field_definition
    value: [
      (arrow_function body: (_) @body)
      (function_expression body: (statement_block) @body)
    ]) @definition.method)
