-- The plugin's version: the one of the server that it is made for.

return "0.1.0"
