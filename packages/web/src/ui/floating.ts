/** What dialogs, menus and popovers are made of. Loaded by `load.ts`. */
export { AlertDialog, Dialog, DropdownMenu, Popover } from "radix-ui";
