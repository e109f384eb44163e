; Definitions -------------------------------------------------------------------------------------

(class_definition
  name: (identifier) @name
  body: (_) @body) @definition.class

(class_definition
  superclasses: (argument_list [(identifier) (attribute)] @base)) @definition.class

(class_definition
  superclasses: (argument_list (subscript value: (_) @base))) @definition.class

(function_definition
  name: (identifier) @name
  return_type: (type)? @type
  body: (_) @body) @definition.function

((decorator) @decorator
  (#match? @decorator "^@(.*\\.)?(property|cached_property|classmethod|staticmethod|abstractmethod|overload|dataclass|define|frozen|attrs|contextmanager|asynccontextmanager|pytest\\.fixture|fixture|setter)\\b"))

; Assignments at the top level of the file.
(module
  (expression_statement
    (assignment
      left: (identifier) @name
      type: (type)? @type
      right: (_)? @value) @definition.constant))

(module
  (expression_statement
    (assignment
      right: (call function: (identifier) @type
        (#match? @type "^[A-Z]"))) @definition.constant))

(module
  (type_alias_statement
    left: (type) @name
    right: (type) @value) @definition.type)

; Class attributes, and attributes that methods set.
(class_definition
  body: (block
    (expression_statement
      (assignment
        left: (identifier) @name
        type: (type)? @type
        right: (_)? @value) @definition.field)))

(assignment
  left: (attribute
    object: (identifier) @receiver
    attribute: (identifier) @name)
  type: (type)? @type
  right: (_)? @value
  (#any-of? @receiver "self" "cls")) @definition.field @hoisted

; self.client = Client(): a capital marks a class.
(assignment
  left: (attribute)
  right: (call function: (identifier) @type
    (#match? @type "^[A-Z]"))) @definition.field

; def __init__(self, client: Client): self.client = client
(typed_parameter
  . (identifier) @parameter
  type: (type) @parameter.type)

(typed_default_parameter
  name: (identifier) @parameter
  type: (type) @parameter.type)

; Imports -----------------------------------------------------------------------------------------

(import_statement
  name: (dotted_name) @import.module @import.local) @import

(import_statement
  name: (aliased_import
    name: (dotted_name) @import.module
    alias: (identifier) @import.local)) @import

(import_from_statement
  module_name: (_) @import.module
  name: (dotted_name) @import.name) @import

(import_from_statement
  module_name: (_) @import.module
  name: (aliased_import
    name: (dotted_name) @import.name
    alias: (identifier) @import.alias)) @import

(import_from_statement
  module_name: (_) @import.module
  (wildcard_import) @import.name) @import
