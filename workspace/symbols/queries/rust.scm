; Definitions -------------------------------------------------------------------------------------

(struct_item
  name: (type_identifier) @name
  body: (field_declaration_list)? @body) @definition.class

(union_item
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(enum_item
  name: (type_identifier) @name
  body: (_) @body) @definition.class

(enum_variant name: (identifier) @name) @definition.field

(field_declaration
  name: (field_identifier) @name
  type: (_) @type) @definition.field

(trait_item
  name: (type_identifier) @name
  body: (_) @body) @definition.type

(trait_item
  bounds: (trait_bounds [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type type: (_) @base)
  ])) @definition.type

(type_item
  name: (type_identifier) @name
  type: (_) @value) @definition.type

(associated_type name: (type_identifier) @name) @definition.type

(impl_item
  type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
  ]) @scope

(function_item
  name: (identifier) @name
  return_type: (_)? @type
  body: (block) @body) @definition.function

(function_signature_item
  name: (identifier) @name
  return_type: (_)? @type) @definition.function

(const_item
  name: (identifier) @name
  type: (_) @type
  value: (_)? @value) @definition.constant

(static_item
  name: (identifier) @name
  type: (_) @type
  value: (_)? @value) @definition.constant

(mod_item
  name: (identifier) @name
  body: (declaration_list) @body) @definition.module

(macro_definition
  name: (identifier) @name
  (macro_rule) @body) @definition.function

; Imports -----------------------------------------------------------------------------------------
; The paths of nested lists are put together by the extraction.

(use_declaration
  argument: (scoped_identifier
    path: (_) @import.module
    name: (identifier) @import.name)) @import

(use_declaration
  argument: (identifier) @import.module @import.local) @import

(use_declaration
  argument: (use_as_clause
    path: (scoped_identifier
      path: (_) @import.module
      name: (identifier) @import.name)
    alias: (identifier) @import.alias)) @import

(use_declaration
  argument: (use_wildcard
    (_) @import.module
    "*" @import.name)) @import

(use_declaration
  argument: (scoped_use_list
    path: (_) @import.module
    list: (use_list [
      (identifier) @import.name
      (self) @import.name
      (use_as_clause
        path: (identifier) @import.name
        alias: (identifier) @import.alias)
      (use_wildcard . "*" @import.name)
    ]))) @import

; use a::{b::c, d::{e, f}}
(use_declaration
  argument: (scoped_use_list
    path: (_) @import.parent
    list: (use_list [
      (scoped_identifier
        path: (_) @import.module
        name: (identifier) @import.name)
      (use_as_clause
        path: (scoped_identifier
          path: (_) @import.module
          name: (identifier) @import.name)
        alias: (identifier) @import.alias)
      (use_wildcard
        (_) @import.module
        "*" @import.name)
      (scoped_use_list
        path: (_) @import.module
        list: (use_list [
          (identifier) @import.name
          (self) @import.name
          (use_as_clause
            path: (identifier) @import.name
            alias: (identifier) @import.alias)
          (use_wildcard . "*" @import.name)
        ]))
    ]))) @import

; mod parser;
(mod_item
  "mod" @import.submodule
  name: (identifier) @import.module @import.local
  !body) @import
