/**
 * What happens when the machine gives no more: no descriptor, no address space, no thread. A child
 * JVM lowers its own limit until the first, the second, the third acquisition of something fails,
 * and looks what each failure says and leaves behind.
 */
@NullMarked
package io.softdpu.storage.exhaustion;

import org.jspecify.annotations.NullMarked;
