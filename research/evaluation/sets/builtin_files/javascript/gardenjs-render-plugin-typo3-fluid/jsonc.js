/**
 * Strip // and /* *\/ comments from JSONC while preserving string contents.
 * @param {string} text
 * @returns {string}
 */
export function stripJsonComments(text) {
  let out = ''
  let i = 0
  let inString = false
  let stringQuote = ''
  let escaped = false

  while (i < text.length) {
    const c = text[i]
    const next = text[i + 1]

    if (inString) {
      out += c
      if (escaped) {
        escaped = false
      } else if (c === '\\') {
        escaped = true
      } else if (c === stringQuote) {
        inString = false
      }
      i += 1
      continue
    }

    if (c === '"' || c === "'") {
      inString = true
      stringQuote = c
      out += c
      i += 1
      continue
    }

    if (c === '/' && next === '/') {
      i += 2
      while (i < text.length && text[i] !== '\n' && text[i] !== '\r') {
        i += 1
      }
      continue
    }

    if (c === '/' && next === '*') {
      i += 2
      while (i < text.length && !(text[i] === '*' && text[i + 1] === '/')) {
        i += 1
      }
      i += 2
      continue
    }

    out += c
    i += 1
  }

  return out
}

/**
 * Parse JSON or JSONC (comments allowed).
 * @param {string} text
 * @returns {unknown}
 */
export function parseJsonc(text) {
  return JSON.parse(stripJsonComments(text))
}
