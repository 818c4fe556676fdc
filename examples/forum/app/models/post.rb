# frozen_string_literal: true

class Post < ApplicationRecord
  belongs_to :topic, counter_cache: true
  has_one :attachment, dependent: :destroy

  validates :author, presence: true, length: { maximum: 40 }
  validates :body, presence: true, length: { maximum: 20_000 }

  after_create { topic.update!(last_post_at: created_at) }

  # Keeps an uploaded file with the post; nil, as an empty file field sends it, means none.
  def upload=(upload)
    build_attachment(upload: upload) if upload.present?
  end
end
