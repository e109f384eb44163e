; Definitions -------------------------------------------------------------------------------------

(function_definition
  name: (word) @name
  body: (_) @body) @definition.function

(program
  (variable_assignment
    name: (variable_name) @name
    value: (_)? @value) @definition.constant)

(program
  (declaration_command
    (variable_assignment
      name: (variable_name) @name
      value: (_)? @value) @definition.constant))

; Imports -----------------------------------------------------------------------------------------

; source lib/common.sh
(command
  name: (command_name) @_command
  . argument: (_) @import.module
  (#any-of? @_command "source" ".")) @import
