# frozen_string_literal: true

require "digest/sha2"

# A file that came with a post. It lies on disk under its digest, so that its name can be anything.
class Attachment < ApplicationRecord
  belongs_to :post

  validates :name, presence: true, length: { maximum: 255 }

  # upload: an ActionDispatch::Http::UploadedFile, which lies in a temporary file already.
  def upload=(upload)
    digest = Digest::SHA256.file(upload.path).hexdigest
    assign_attributes(name: upload.original_filename, byte_size: upload.size, sha256: digest,
                      content_type: upload.content_type.presence || "application/octet-stream")
    keep(upload.path)
  end

  def path
    Rails.configuration.x.storage.join("attachments", sha256.first(2), sha256)
  end

  private

  # Under another name first, so that the file is complete when others find it.
  def keep(source)
    return if path.exist?

    path.dirname.mkpath
    unfinished = path.sub_ext(".#{SecureRandom.hex(8)}")
    FileUtils.cp(source, unfinished)
    unfinished.rename(path)
  end
end
