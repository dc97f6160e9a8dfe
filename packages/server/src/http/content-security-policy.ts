/** Everything comes from this server, and no other site may embed the page or receive its forms. */
const policyWith = (styles: string, images: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "font-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** For the small pages of the server. */
export const pagePolicy = policyWith("'self'", "data:");

/** For the dashboard and the API reference: their scripts set styles, for example to place dialogs and charts. */
export const appPolicy = policyWith("'self' 'unsafe-inline'", "'self' data:");
