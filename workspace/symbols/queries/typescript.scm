; inherits: ecmascript

(class_declaration
  name: (type_identifier) @name
  body: (class_body) @body) @definition.class

(abstract_class_declaration
  name: (type_identifier) @name
  body: (class_body) @body) @definition.class

(_
  (class_heritage
    (extends_clause value: [(identifier) (member_expression)] @base))) @definition.class

(_
  (class_heritage
    (implements_clause [
      (type_identifier) @base
      (generic_type name: (_) @base)
      (nested_type_identifier) @base
    ]))) @definition.class

(interface_declaration
  name: (type_identifier) @name
  body: (interface_body) @body) @definition.type

(interface_declaration
  (extends_type_clause [
    (type_identifier) @base
    (generic_type name: (_) @base)
    (nested_type_identifier) @base
  ])) @definition.type

(type_alias_declaration
  name: (type_identifier) @name) @definition.type

; type Options = { name: string }
(type_alias_declaration
  value: (object_type) @body) @definition.type

(enum_declaration
  name: (identifier) @name
  body: (enum_body) @body) @definition.class

(enum_body name: (_) @name @definition.field)

(enum_assignment
  name: (_) @name
  value: (_) @value) @definition.field

(internal_module
  name: (_) @name
  body: (statement_block) @body) @definition.module

(module
  name: (_) @name
  body: (statement_block) @body) @definition.module

; Members -----------------------------------------------------------------------------------------

(class_body
  (public_field_definition
    name: [(property_identifier) (private_property_identifier)] @name
    type: (type_annotation (_) @type)?
    value: (_)? @value) @definition.field)

(class_body
  (public_field_definition
    value: [
      (arrow_function return_type: (type_annotation (_) @type)? body: (_) @body)
      (function_expression
        return_type: (type_annotation (_) @type)?
        body: (statement_block) @body)
    ]) @definition.method)

(public_field_definition
  value: (new_expression constructor: (identifier) @type)) @definition.field

; constructor(private client: Client) {}
(required_parameter
  [(accessibility_modifier) "readonly"]
  pattern: (identifier) @name
  type: (type_annotation (_) @type)?) @definition.field @hoisted

(method_definition
  return_type: (type_annotation (_) @type)) @definition.method

(abstract_method_signature
  name: (property_identifier) @name
  return_type: (type_annotation (_) @type)?) @definition.method

(class_body
  (method_signature
    name: (property_identifier) @name
    return_type: (type_annotation (_) @type)?) @definition.method)

(interface_body
  [(property_signature
     name: [(property_identifier) (string)] @name
     type: (type_annotation (_) @type)?) @definition.field
   (method_signature
     name: (property_identifier) @name
     return_type: (type_annotation (_) @type)?) @definition.method])

(type_alias_declaration
  (object_type
    [(property_signature
       name: [(property_identifier) (string)] @name
       type: (type_annotation (_) @type)?) @definition.field
     (method_signature
       name: (property_identifier) @name
       return_type: (type_annotation (_) @type)?) @definition.method]))

; Functions and variables -------------------------------------------------------------------------

(function_signature
  name: (identifier) @name
  return_type: (type_annotation (_) @type)?) @definition.function

(function_declaration
  return_type: (type_annotation (_) @type)) @definition.function

(generator_function_declaration
  return_type: (type_annotation (_) @type)) @definition.function

(variable_declarator
  type: (type_annotation (_) @type)) @definition.constant

(variable_declarator
  value: [
    (arrow_function return_type: (type_annotation (_) @type))
    (function_expression return_type: (type_annotation (_) @type))
  ]) @definition.function

; Variables of namespaces and of declaration files.
(statement_block
  (export_statement
    (lexical_declaration
      kind: _ @keyword
      (variable_declarator
        name: (identifier) @name
        value: (_)? @value) @definition.constant)))

(ambient_declaration
  (_
    kind: _ @keyword
    (variable_declarator
      name: (identifier) @name) @definition.constant))

((decorator) @hidden)

; import fs = require("fs")
(import_statement
  (import_require_clause
    (identifier) @import.local
    source: (string) @import.module)) @import

; import type {A} from "./m", import type A from "./m"
(import_statement
  "type" @import.type
  (import_clause
    (named_imports
      (import_specifier
        name: (_) @import.name
        alias: (identifier)? @import.alias)))
  source: (string) @import.module) @import

(import_statement
  "import" @import.default
  "type" @import.type
  (import_clause (identifier) @import.alias)
  source: (string) @import.module) @import

; import {type A} from "./m"
(import_statement
  (import_clause
    (named_imports
      (import_specifier
        "type" @import.type
        name: (_) @import.name
        alias: (identifier)? @import.alias)))
  source: (string) @import.module) @import
