/** Values that all processes on the database share: secrets that are created once, the addresses of running servers, and what they saw of the clock. */
export interface SettingsTable {
  name: string;
  value: string;
}
