/** A command that cannot do what it was told to; its message is all that the user needs. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}
