/** Results refer to a built-in taxonomy, so a changed one needs a new name. */
export interface BuiltInTaxonomy {
  name: `system:${string}`;
  description: string;
  body: {
    categories: readonly {
      name: string;
      description: string;
      errors: readonly { name: string; description: string }[];
    }[];
  };
}

/** Errors by their names, each with its description. */
export function described(descriptions: Readonly<Record<string, string>>) {
  return Object.entries(descriptions).map(([name, description]) => ({ name, description }));
}
