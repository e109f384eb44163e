; Definitions -------------------------------------------------------------------------------------

(struct_specifier
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(union_specifier
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(enum_specifier
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(enumerator
  name: (identifier) @name
  value: (_)? @value) @definition.constant

(field_declaration
  type: [
    (primitive_type) @type
    (sized_type_specifier) @type
    (type_identifier) @type
    (struct_specifier name: (type_identifier) @type)
    (union_specifier name: (type_identifier) @type)
    (enum_specifier name: (type_identifier) @type)
  ]
  declarator: [
    (field_identifier) @name
    (pointer_declarator (field_identifier) @name)
    (pointer_declarator (pointer_declarator (field_identifier) @name))
    (array_declarator declarator: (field_identifier) @name)
    (pointer_declarator (array_declarator declarator: (field_identifier) @name))
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator (field_identifier) @name)))
  ]) @definition.field

; typedef struct {...} Name;
(type_definition
  type: (struct_specifier
    !name
    body: (_) @body)
  declarator: (type_identifier) @name) @definition.class

(type_definition
  type: (enum_specifier
    !name
    body: (_) @body)
  declarator: (type_identifier) @name) @definition.class

(type_definition
  type: [(primitive_type) (sized_type_specifier) (type_identifier)]
  declarator: (_) @_declarator
  (#not-match? @_declarator "\\(")) @definition.type

(type_definition
  declarator: [
    (type_identifier) @name
    (pointer_declarator (type_identifier) @name)
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator (type_identifier) @name)))
  ]) @definition.type

(function_definition
  type: (_) @type
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator (function_declarator declarator: (identifier) @name))
    (pointer_declarator
      (pointer_declarator (function_declarator declarator: (identifier) @name)))
  ]
  body: (compound_statement) @body) @definition.function

; int run(void);
(declaration
  type: (_) @type
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator (function_declarator declarator: (identifier) @name))
    (pointer_declarator
      (pointer_declarator (function_declarator declarator: (identifier) @name)))
  ]) @definition.function

(declaration
  type: (_) @type
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (pointer_declarator (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]
    value: (_) @value)) @definition.constant

(declaration
  (storage_class_specifier)
  type: (_) @type
  declarator: [
    (identifier) @name
    (pointer_declarator (identifier) @name)
    (array_declarator declarator: (identifier) @name)
  ]) @definition.constant

(preproc_def
  name: (identifier) @name
  value: (_) @value) @definition.constant

(preproc_function_def
  name: (identifier) @name
  value: (_)? @body) @definition.function

; Imports -----------------------------------------------------------------------------------------

(preproc_include path: [(string_literal) (system_lib_string)] @import.module) @import
