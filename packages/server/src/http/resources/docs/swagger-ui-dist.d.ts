/** Bun resolves a file that is imported as a file to its path. */
declare module "swagger-ui-dist/*" {
  const path: string;
  export default path;
}
