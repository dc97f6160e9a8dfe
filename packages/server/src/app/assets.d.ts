/** Bun resolves a file that is imported as a file to its path. */
declare module "swagger-ui-dist/*" {
  const path: string;
  export default path;
}

declare module "*/docs.css" {
  const content: string;
  export default content;
}

declare module "*/start.js" {
  const content: string;
  export default content;
}
