/**
 * The checks of arguments, for all packages of core but the lowest, {@code io.softdpu.core}, and
 * for the libraries above; exported to those alone. Depends on the words of {@code io.softdpu.core}
 * and on nothing else, so that every package can use it. Any thread.
 */
@NullMarked
package io.softdpu.core.check;

import org.jspecify.annotations.NullMarked;
