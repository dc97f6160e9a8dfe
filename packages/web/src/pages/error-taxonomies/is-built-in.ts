/** Whether a taxonomy comes with Presage: nobody else’s name begins so. */
export function isBuiltIn({ error_taxonomy_name }: { error_taxonomy_name: string }): boolean {
  return error_taxonomy_name.startsWith("system:");
}
