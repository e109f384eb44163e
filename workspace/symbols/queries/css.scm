; Custom properties. A selector styles names of other files and defines none.

(declaration
  (property_name) @name
  (#match? @name "^--")) @definition.constant

(import_statement
  [(string_value (string_content) @import.module)
   (call_expression (arguments (string_value (string_content) @import.module)))]) @import
