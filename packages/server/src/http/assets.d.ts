declare module "*/fonts.css" {
  const content: string;
  export default content;
}

declare module "*/pages.css" {
  const content: string;
  export default content;
}

declare module "*/sign-in.js" {
  const content: string;
  export default content;
}
