/** A command that cannot do what it was asked; the message is all that its user needs. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}
