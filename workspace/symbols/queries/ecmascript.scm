; What JavaScript and TypeScript share.

; Definitions -------------------------------------------------------------------------------------

(function_declaration
  name: (identifier) @name
  body: (statement_block) @body) @definition.function

(generator_function_declaration
  name: (identifier) @name
  body: (statement_block) @body) @definition.function

; export default function () {}
(export_statement
  "default" @name
  value: [
    (function_expression body: (statement_block) @body)
    (arrow_function body: (_) @body)
  ]) @definition.function

(method_definition
  name: [(property_identifier) (private_property_identifier)] @name
  body: (statement_block) @body) @definition.method

; const settings = 1, run = async () => {}
(program
  (_
    kind: _ @keyword
    (variable_declarator
      name: (identifier) @name
      value: (_) @value) @definition.constant))

(program
  (export_statement
    (lexical_declaration
      kind: _ @keyword
      (variable_declarator
        name: (identifier) @name
        value: (_) @value) @definition.constant)))

(variable_declarator
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (statement_block) @body)
  ]) @definition.function

(variable_declarator
  value: (class body: (class_body) @body)) @definition.class

(variable_declarator
  value: (new_expression constructor: (identifier) @type)) @definition.constant

; this.client = new Client()
(expression_statement
  (assignment_expression
    left: (member_expression
      object: (this)
      property: [(property_identifier) (private_property_identifier)] @name)
    right: (_) @value) @definition.field @hoisted)

(assignment_expression
  left: (member_expression object: (this))
  right: (new_expression constructor: (identifier) @type)) @definition.field

; The properties of an object that a constant holds.
(variable_declarator
  value: (object
    (pair
      key: (property_identifier) @name
      value: (_) @value) @definition.field))

(pair
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (statement_block) @body)
  ]) @definition.method

; exports.run = function () {}, module.exports.run = ..., Client.prototype.run = ...
(program
  (expression_statement
    (assignment_expression
      left: (member_expression
        object: (_) @_object
        property: (property_identifier) @name)
      right: [
        (arrow_function body: (_) @body)
        (function_expression body: (statement_block) @body)
      ]
      (#any-of? @_object "exports" "module.exports")) @definition.function))

(program
  (expression_statement
    (assignment_expression
      left: (member_expression
        object: (member_expression
          object: (identifier) @container
          property: (property_identifier) @_prototype)
        property: (property_identifier) @name)
      right: (function_expression body: (statement_block) @body)
      (#eq? @_prototype "prototype")) @definition.method))

; Imports -----------------------------------------------------------------------------------------

; import "./module"
(import_statement
  source: (string) @import.module) @import

; import client from "./client"
(import_statement
  "import" @import.default
  (import_clause (identifier) @import.alias)
  source: (string) @import.module) @import

(import_statement
  (import_clause (namespace_import (identifier) @import.local))
  source: (string) @import.module) @import

(import_statement
  (import_clause
    (named_imports
      (import_specifier
        name: (_) @import.name
        alias: (identifier)? @import.alias)))
  source: (string) @import.module) @import

; export {a as b} from "./module"
(export_statement
  "export" @import.export
  (export_clause
    (export_specifier
      name: (_) @import.name
      alias: (_)? @import.alias))
  source: (string) @import.module) @import

(export_statement
  "export" @import.export
  "*" @import.name
  source: (string) @import.module) @import

(export_statement
  "export" @import.export
  (namespace_export (identifier) @import.local)
  source: (string) @import.module) @import

; const client = require("./client"), const {a, b: c} = require("./module")
(variable_declarator
  name: (identifier) @import.local
  value: (call_expression
    function: (identifier) @_require @import.require
    arguments: (arguments . (string) @import.module .))
  (#eq? @_require "require")) @import

(variable_declarator
  name: (object_pattern
    [(shorthand_property_identifier_pattern) @import.name
     (pair_pattern
       key: (property_identifier) @import.name
       value: (identifier) @import.alias)])
  value: (call_expression
    function: (identifier) @_require @import.require
    arguments: (arguments . (string) @import.module .))
  (#eq? @_require "require")) @import
