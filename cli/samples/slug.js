/** Turn a title into the last part of a web address. */
export function slugify(title) {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, "")
    .trim()
    .split(/\s+/);
  
}

export function pageAddress(site, title) {
  return `${site}/${slugify(title)}`;
}
