/**
 * Copies of payload and messages, for engines and work queues, which have a {@link
 * io.softdpu.core.copy.Copier} each, and for the libraries above, which copy through it; exported
 * to those only. Depends on nothing else in core. A copier belongs to the thread of its engine or
 * queue.
 */
@NullMarked
package io.softdpu.core.copy;

import org.jspecify.annotations.NullMarked;
