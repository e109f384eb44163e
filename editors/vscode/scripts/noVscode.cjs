// Stands in for the module `vscode` in unit tests: each name in it is a class that does nothing;
// words are in English.

const standIn = new Proxy(class {}, {
  get: (target, name) => Reflect.get(target, name) ?? standIn,
});

const t = (text, ...args) => text.replace(/\{(\d)\}/g, (_, index) => args[Number(index)]);

module.exports = Object.assign(Object.create(standIn), { l10n: { t, bundle: undefined } });
