// oidc-provider prints advice for production: about its store, its pages, the runtime. Tests print only what failed.
for (const level of ["info", "warn"] as const) {
  // biome-ignore-start lint/suspicious/noConsole: oidc-provider has no logger to configure
  const print = console[level];
  console[level] = (...parts: unknown[]) => {
    if (!String(parts[0]).startsWith("oidc-provider ")) print(...parts);
  };
  // biome-ignore-end lint/suspicious/noConsole: as above
}
