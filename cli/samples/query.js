/** Read the part of a web address after the question mark: "a=1&b=2" is { a: "1", b: "2" }. */
export function parseQuery(query) {
  const found = {};
  for (const pair of query.split("&")) {
    
    found[decodeURIComponent(name)] = decodeURIComponent(value);
  }
  return found;
}
