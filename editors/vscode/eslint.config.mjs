import tseslint from "typescript-eslint";

// A sentence; the first words of a program in Python are none.
const WORDS = "/^(?!import ).*[a-zé…)] [a-z]/s";
const NAMED = "Property[key.name=/^(title|label|description|detail|placeHolder|prompt)$/]";
const UNTRANSLATED = [
  `Literal[value=${WORDS}]:not(CallExpression[callee.object.name='l10n'] > Literal)`,
  "CallExpression:not([callee.object.name='l10n'], [callee.name='join']) > Literal.arguments[value=/^(?!Intarsia$)[A-Z][a-z]+…?$/]",
  `TemplateElement[value.raw=${WORDS}]`,
  `${NAMED} > Literal[value=/^(?!Intarsia$).*[a-z]/]`,
  "CallExpression[callee.object.name='l10n'] > :not(Literal):first-child.arguments",
];

export default tseslint.config(
  { ignores: ["dist/", "server/", "node_modules/"] },
  {
    files: ["src/**/*.ts"],
    extends: [tseslint.configs.recommendedTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": [
        "error",
        { disallowTypeAnnotations: false, fixStyle: "inline-type-imports" },
      ],
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/messages.ts", "src/setup/consent.ts"], // the latter's words are constant
    rules: {
      "no-restricted-properties": [
        "error",
        ...["showInformationMessage", "showWarningMessage", "showErrorMessage"].map((property) => ({
          object: "window",
          property,
          message: "Use messages.ts: a message may hold a file's name, with a link in it.",
        })),
      ],
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/test/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...UNTRANSLATED.map((selector) => ({ selector, message: "Translate it: l10n.t(…)." })),
      ],
    },
  },
  {
    files: ["src/test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-floating-promises": "off", // node:test's own
      "@typescript-eslint/require-await": "off", // stand-ins for what is asynchronous
    },
  },
);
