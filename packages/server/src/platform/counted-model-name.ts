export const maxModelNameCharacters = 200;

/** No control or unassigned characters and no half of a surrogate pair, as PostgreSQL refuses some of them. */
const storable = /^\P{C}+$/u;

/** Whether a model's name is one by which tokens are counted: a caller may send anything. */
export function isCountedModelName(name: string): boolean {
  return name.length <= maxModelNameCharacters && storable.test(name);
}
