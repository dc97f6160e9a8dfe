const modelFamilies = new Set(["judge", "error-taxonomy"]);

/** Whether a family asks a model: each evaluation costs a call, and may come to no verdict. */
export function usesModel(familyName: string): boolean {
  return modelFamilies.has(familyName);
}
