/** A taxonomy that comes with Presage. Changing one means a new name: results refer to it. */
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
