/** How messages name this program's command line. In a clone the shell does not find it; a build for delivery writes its own name here. */
export const commandName: string = "npx presage";
