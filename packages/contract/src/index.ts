export * from "./api-key.ts";
export * from "./chat-completion.ts";
export * from "./errors.ts";
export * from "./me.ts";
export * from "./model.ts";
export * from "./prediction.ts";
export * from "./probe.ts";
