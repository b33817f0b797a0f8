/**
 * Checks of arguments, and the reasons that checks of the data path return, for all packages of
 * core but {@code io.softdpu.core}, and for the libraries above; exported to those only. Depends on
 * {@code io.softdpu.core} only, so that every package can use it. Any thread.
 */
@NullMarked
package io.softdpu.core.check;

import org.jspecify.annotations.NullMarked;
