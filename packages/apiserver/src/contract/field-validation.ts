export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';
