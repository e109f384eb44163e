; Tables and views are classes, columns their fields.

(create_table
  (object_reference name: (_) @name)
  (column_definitions) @body) @definition.class

(column_definition
  name: (_) @name
  type: (_) @type) @definition.field

(create_view
  (object_reference name: (_) @name)
  (create_query) @body) @definition.class

(create_materialized_view
  (object_reference name: (_) @name)
  (create_query) @body) @definition.class

(create_function
  (object_reference name: (_) @name)
  (function_body) @body) @definition.function

(create_type
  (object_reference name: (_) @name)) @definition.type
