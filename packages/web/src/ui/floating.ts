/** The parts of dialogs, menus and popovers. Loaded by `load.ts`. */
export { AlertDialog, Dialog, DropdownMenu, Popover } from "radix-ui";
