/** Of processes that run the packages' sources as they are: loading them is not what is measured. */
export const SOURCE_FLAGS = ['--conditions=asterism-source', '--expose-gc'];
