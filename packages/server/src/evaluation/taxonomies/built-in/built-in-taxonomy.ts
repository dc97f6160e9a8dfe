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
