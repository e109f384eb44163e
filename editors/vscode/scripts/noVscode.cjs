// Stands in for the module `vscode` in unit tests: each name in it is a class that does nothing.

const standIn = new Proxy(class {}, {
  get: (target, name) => Reflect.get(target, name) ?? standIn,
});

module.exports = Object.create(standIn);
