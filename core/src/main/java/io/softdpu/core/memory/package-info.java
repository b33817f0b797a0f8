/** Memory that devices work on: what may be done with it (Core guide, section 3.3). */
@NullMarked
package io.softdpu.core.memory;

import org.jspecify.annotations.NullMarked;
