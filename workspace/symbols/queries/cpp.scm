; inherits: c

(class_specifier
  name: (_) @name
  body: (_) @body) @definition.class

(_
  (base_class_clause [
    (type_identifier) @base
    (qualified_identifier) @base
    (template_type name: (_) @base)
  ])) @definition.class

(namespace_definition
  name: (_) @name
  body: (_) @body) @definition.module

(alias_declaration
  name: (type_identifier) @name) @definition.type

(concept_definition name: (identifier) @name) @definition.type

; Methods in a class, with and without a body.
(function_definition
  type: (_)? @type
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]
  body: (_)? @body) @definition.function

(field_declaration_list
  (function_definition
    declarator: (function_declarator
      declarator: [(identifier) (destructor_name)] @name)
    body: (_)? @body) @definition.function)

(function_definition
  type: (_) @type
  declarator: (reference_declarator (function_declarator declarator: (identifier) @name))
  body: (_) @body) @definition.function

(field_declaration
  type: (_) @type
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @definition.function

(field_declaration_list
  (declaration
    declarator: (function_declarator
      declarator: [(identifier) (destructor_name)] @name)) @definition.function)

(field_declaration
  type: [(qualified_identifier) (template_type) (placeholder_type_specifier)] @type
  declarator: [
    (field_identifier) @name
    (pointer_declarator (field_identifier) @name)
    (reference_declarator (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)
  ]) @definition.field

(field_declaration
  declarator: (reference_declarator (field_identifier) @name)) @definition.field

; void Client::run() {}
(function_definition
  type: (_)? @type
  declarator: (function_declarator declarator: (qualified_identifier
        scope: [
          (namespace_identifier) @container
          (template_type name: (_) @container)
        ]
        name: [(identifier) (destructor_name) (operator_name)] @name))
  body: (_)? @body) @definition.function

(function_definition
  type: (_)? @type
  declarator: (pointer_declarator (function_declarator declarator: (qualified_identifier
        scope: [
          (namespace_identifier) @container
          (template_type name: (_) @container)
        ]
        name: [(identifier) (destructor_name) (operator_name)] @name)))
  body: (_)? @body) @definition.function

(function_definition
  type: (_)? @type
  declarator: (reference_declarator (function_declarator declarator: (qualified_identifier
        scope: [
          (namespace_identifier) @container
          (template_type name: (_) @container)
        ]
        name: [(identifier) (destructor_name) (operator_name)] @name)))
  body: (_)? @body) @definition.function

(function_definition
  type: (_)? @type
  declarator: (function_declarator declarator: (qualified_identifier
        scope: (namespace_identifier) @container
        name: (qualified_identifier
          scope: [
            (namespace_identifier) @container
            (template_type name: (_) @container)
          ]
          name: [(identifier) (destructor_name) (operator_name)] @name)))
  body: (_)? @body) @definition.function

(function_definition
  type: (_)? @type
  declarator: (pointer_declarator (function_declarator declarator: (qualified_identifier
        scope: (namespace_identifier) @container
        name: (qualified_identifier
          scope: [
            (namespace_identifier) @container
            (template_type name: (_) @container)
          ]
          name: [(identifier) (destructor_name) (operator_name)] @name))))
  body: (_)? @body) @definition.function

(function_definition
  type: (_)? @type
  declarator: (reference_declarator (function_declarator declarator: (qualified_identifier
        scope: (namespace_identifier) @container
        name: (qualified_identifier
          scope: [
            (namespace_identifier) @container
            (template_type name: (_) @container)
          ]
          name: [(identifier) (destructor_name) (operator_name)] @name))))
  body: (_)? @body) @definition.function

(function_definition (field_initializer_list) @body) @definition.function

; auto run() -> int
(_
  declarator: (function_declarator
    (trailing_return_type (type_descriptor) @type))) @definition.function
