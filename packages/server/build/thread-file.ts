/** How a module names the file of its thread. */
export const threadFile = /new URL\("\.\/([\w-]+)\.ts", import\.meta\.url\)/g;
